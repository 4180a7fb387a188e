import { getExtensionLicense } from './get-license.ts'
import { issueExtensionLicense } from './issue-license.ts'
import { revokeExtensionLicense } from './revoke-license.ts'

/** In the order of the API description. */
export const endpoints = [getExtensionLicense, issueExtensionLicense, revokeExtensionLicense]
