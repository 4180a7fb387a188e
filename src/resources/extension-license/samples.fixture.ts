import { type Example, type Examples, onSite, type Sample, type Scene } from '../../../test/support/samples.ts'
import { insertLicense } from './license.store.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'getExtensionLicense', path: onSite('/ext'), roles: [] },
  { endpoint: 'issueExtensionLicense', path: onSite('/ext'), roles: ['plugin_management_access'] },
  { endpoint: 'revokeExtensionLicense', path: onSite('/ext'), roles: ['plugin_management_access'] },
]

export const examples: Examples = { revokeExtensionLicense: licensed }

async function licensed({ api, siteId }: Scene): Promise<Example> {
  await api.database.transaction((tx) => insertLicense(tx, { siteId, licenseKey: `key of ${siteId}`, now: 1 }))
  return {}
}
