import type { TestApi } from '../../../test/support/api.ts'
import { storePlugins } from './plugin.store.ts'

/** Adds plugins to the stored list of a site. */
export const withPlugins = (api: TestApi, siteId: number, ...names: string[]) =>
  api.database.transaction((tx) =>
    storePlugins(
      tx,
      siteId,
      {
        themes: [],
        plugins: names.map((name) => ({
          ...{ name, file: `${name}/${name}.php`, title: name, description: '', status: 'active', version: '1.0' },
          ...{ update: 'none', updateVersion: null },
        })),
      },
      Date.now(),
    ),
  )
