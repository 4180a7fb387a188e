/** What other folders may import from this resource. */
export { redeemLoginLink } from './redeem-login-link.ts'
