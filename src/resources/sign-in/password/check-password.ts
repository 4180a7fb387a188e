import { Problem } from '../../../platform/http/problem.ts'
import { problems } from '../problems.ts'
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from './user-password.ts'

/** @throws Problem `weak_password` */
export function checkNewPassword(password: string, email: string): void {
  const why = faultOf(password, email)
  if (why) throw new Problem(problems.weak_password, { why })
}

function faultOf(password: string, email: string): string | undefined {
  if ([...password].length < SHORTEST_PASSWORD) return `must have at least ${SHORTEST_PASSWORD} characters`
  if (Buffer.byteLength(password) > LONGEST_PASSWORD) return `must have at most ${LONGEST_PASSWORD} bytes`
  const plain = password.toLowerCase()
  if (plain.includes(email) || plain.includes('password'))
    return 'must not contain the e-mail address or the word "password"'
  if (new Set(plain).size < 5) return 'must not repeat the same few characters'
  return undefined
}
