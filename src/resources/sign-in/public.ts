/** What other folders may import from this resource. */
export { createCallers, credentialHash, requireProof } from './callers.ts'
export { enqueueInvitation, makeLink } from './password/mail-link.job.ts'
export { Passwords } from './password/user-password.ts'
export { canSignIn } from './way-in.ts'
