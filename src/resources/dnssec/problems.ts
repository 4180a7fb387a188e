import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  dnssec_off: {
    status: 400,
    text: 'The zone is not signed, or about not to be any more.',
    remedy: 'Switch DNSSEC on first: `PUT` of `/v1/zones/{zone_id}/dnssec` with `enabled`.',
  },
  key_roll_under_way: {
    status: 400,
    text: 'The key of the zone is being changed already.',
    remedy: 'Wait until the zone has one key: `GET` of `/v1/zones/{zone_id}/dnssec` shows what is waited for.',
  },
})
