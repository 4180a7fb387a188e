import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  sftp_key_limit_reached: {
    status: 400,
    text: 'An SFTP user can have {limit} public keys. Delete a key first.',
    remedy: 'Delete a key that you no longer use.',
  },
  sftp_key_known: {
    status: 400,
    text: 'The SFTP user already has this public key.',
    remedy: 'You need not do anything: the key already works.',
  },
})
