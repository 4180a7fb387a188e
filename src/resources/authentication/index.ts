import { issueToken } from './issue-token.ts'
import { revokeToken } from './revoke-token.ts'

export const authentication = { operations: [issueToken, revokeToken] }
