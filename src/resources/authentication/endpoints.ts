import { getAuthorizationServer } from './get-authorization-server.ts'
import { issueToken } from './issue-token.ts'
import { revokeToken } from './revoke-token.ts'

/** In the order of the description of the API. */
export const endpoints = [issueToken, revokeToken, getAuthorizationServer]
