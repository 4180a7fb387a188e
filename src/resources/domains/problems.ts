import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  domain_exists: {
    status: 400,
    text: 'name: {hostName} is a domain of this site already.',
    remedy: 'Nothing is to be done: the site has the domain.',
  },
  domain_elsewhere: {
    status: 400,
    text: 'name: {hostName} has {types} records that lead elsewhere. Delete them from its zone first.',
    remedy: '`GET /v1/zones` and `GET /v1/zones/{zone_id}/records` show the records; delete those that are in the way.',
  },
})
