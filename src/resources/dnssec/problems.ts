import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  dnssec_off: {
    status: 400,
    text: 'The zone is not signed, or signing is ending. Turn on DNSSEC first.',
    remedy: 'First turn on DNSSEC: send `PUT /v1/zones/{zone_id}/dnssec` with `enabled`.',
  },
  key_roll_under_way: {
    status: 400,
    text: 'The key of the zone is already being changed. Wait until the change is complete.',
    remedy: 'Wait until the zone has one key. `GET /v1/zones/{zone_id}/dnssec` shows the progress.',
  },
})
