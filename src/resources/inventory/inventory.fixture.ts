import type { TestApi } from '../../../test/support/api.ts'
import { type Extension, storeExtensions } from './extensions.store.ts'

/** Returns a plugin or theme, active and in version 1.0 unless told otherwise. */
export const extension = (given: Partial<Extension> & Pick<Extension, 'slug'>): Extension => ({
  ...{ kind: 'plugin', title: given.slug, version: '1.0', is_active: 1, update_version: null, is_automatic: 0 },
  ...given,
})

/** Replaces the plugins and themes of a site. */
export const withExtensions = (
  api: TestApi,
  siteId: number,
  extensions: readonly (Partial<Extension> & Pick<Extension, 'slug'>)[],
) => api.database.transaction((tx) => storeExtensions(tx, siteId, extensions.map(extension)))
