/** What other folders may import from this resource. */
export { createAuthenticator, invalidToken, tokenHashOf } from './authenticate.ts'
export { problems } from './problems.ts'
export { scopes } from './scopes.ts'
export { insertToken, liveTokens } from './token.store.ts'
