import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  sftp_key_limit_reached: {
    status: 400,
    text: 'An SFTP user can have at most {limit} public keys.',
    remedy: 'Delete a key that is not used any more.',
  },
  sftp_key_known: {
    status: 400,
    text: 'The SFTP user has this public key already.',
    remedy: 'Nothing is to be done: who holds the key can log in.',
  },
})
