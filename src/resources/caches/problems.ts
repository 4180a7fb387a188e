import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  edge_cache_off: {
    status: 400,
    text: 'Defensive mode needs the edge cache. Switch the edge cache on first.',
    remedy: '`PUT /v1/sites/{id}/edge-cache`, then again.',
  },
})
