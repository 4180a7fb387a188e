/** What other folders may import from this resource. */
export { actions } from './actions.ts'
export {
  closeSession,
  closeSessions,
  findSession,
  insertSession,
  proveSession,
  renewSession,
  type SessionOwner,
} from './session.store.ts'
export { PROOF_MS, SESSION_MS, sessionHash } from './session.ts'
