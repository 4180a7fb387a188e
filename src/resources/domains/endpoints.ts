import { addDomain } from './add-domain.ts'
import { cancelClaim } from './cancel-claim.ts'
import { lookAgain } from './check-domain.ts'
import { deleteDomain } from './delete-domain.ts'
import { getDomain } from './get-domain.ts'
import { listClaims } from './list-claims.ts'
import { listDomains } from './list-domains.ts'
import { setPrimary } from './set-primary-domain.ts'

/** In the order of the API description. */
export const endpoints = [
  listDomains,
  addDomain,
  getDomain,
  deleteDomain,
  setPrimary,
  lookAgain,
  listClaims,
  cancelClaim,
]
