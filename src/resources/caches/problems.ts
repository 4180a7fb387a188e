import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  edge_cache_off: {
    status: 400,
    text: 'Defensive mode requires the edge cache. Turn on the edge cache first.',
    remedy: 'Turn on the edge cache with `PUT /v1/sites/{id}/edge-cache`, then repeat the request.',
  },
})
