import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  domain_exists: {
    status: 400,
    text: 'name: {hostName} is already a domain of this site.',
    remedy: 'You need not do anything: the site already has the domain.',
  },
  domain_elsewhere: {
    status: 400,
    text: 'name: {hostName} has {types} records that point elsewhere. Delete them from its zone first.',
    remedy: 'Delete the conflicting records. `GET /v1/zones` and `GET /v1/zones/{zone_id}/records` list them.',
  },
  zone_of_other_account: {
    status: 400,
    text: 'name: {zone} is managed by another account. If the domain is yours, create the TXT record {record} with the value {value}, then add the domain again. So far {seen}.',
    remedy:
      'Create the TXT record at the DNS provider of the domain, then send the same request again. When Stead finds the record, it notifies the other account and moves the domain a day later. Keep the record until then. If the domain is not yours, ask its owner or your operator.',
  },
  claim_limit_reached: {
    status: 400,
    text: 'An account can have {limit} pending claims of domains and {limit} notices per hour. Wait until one ends.',
    remedy: 'Wait until a claim ends, or wait one hour, then add the domain again.',
  },
})
