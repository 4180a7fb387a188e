import { getAuthorizationServer } from './get-authorization-server.ts'
import { issueToken } from './issue-token.ts'
import { revokeToken } from './revoke-token.ts'

/** In the order of the API description. */
export const endpoints = [issueToken, revokeToken, getAuthorizationServer]
