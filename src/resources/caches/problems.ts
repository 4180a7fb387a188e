import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  edge_cache_off: {
    status: 400,
    text: 'Defensive mode requires the edge cache. Turn on the edge cache first.',
    remedy: 'Turn on the edge cache with `PUT /v1/sites/{id}/edge-cache`, then repeat the request.',
  },
})
