import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  operator_account: {
    status: 400,
    text: 'The account of the operator cannot be suspended.',
    remedy: 'Choose another account. The operator has the first account of the installation.',
  },
  host_lost: {
    status: 400,
    text: 'The host {host} is marked lost. To use it again, run stead host return --name={host} on the server.',
    remedy: 'Run `stead host return` first.',
  },
})
