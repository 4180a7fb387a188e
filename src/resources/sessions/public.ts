/** What other folders may import from this resource. */
export { actions } from './actions.ts'
export {
  endSession,
  endSessions,
  findSession,
  insertSession,
  proveSession,
  renewSession,
  type SessionOwner,
} from './session.store.ts'
export { PROOF_MS, SESSION_MS, sessionHash } from './session.ts'
