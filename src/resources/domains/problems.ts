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
  zone_of_other_account: {
    status: 400,
    text: 'name: {zone} is managed by another account. If the domain is yours, create the TXT record {record} with the value {value}, then add the domain again. So far {seen}.',
    remedy:
      'Create the TXT record where the name servers of the domain get their records, and send the same request again. When Stead sees the record, the other account gets a notice, and the domain moves a day later. Keep the record until then. If the domain is not yours, ask its owner, or whoever runs this Stead.',
  },
  claim_limit_reached: {
    status: 400,
    text: 'An account can have {limit} pending claims of domains, and as many notices an hour. Wait until one ends.',
    remedy: 'Wait until a claim ends, or for an hour, then add the domain again.',
  },
})
