import Type from 'typebox'
import type { ListedPlugin } from '../../hosting/php/tasks.ts'
import { nullable } from '../../platform/http/schemas.ts'

/** Limit of plugins in one request. */
export const MOST_PLUGINS = 50

export const PluginSchema = Type.Object(
  {
    name: Type.String({ description: 'Slug of the plugin. For a drop-in, its file name', examples: ['akismet'] }),
    title: Type.String({ examples: ['Akismet Anti-spam'] }),
    description: Type.String({ description: 'May contain HTML', examples: ['Used by millions.'] }),
    status: Type.String({
      description: 'One of active, active-network (on all sites of a network), inactive, must-use, dropin',
      examples: ['active'],
    }),
    update: Type.String({
      description: 'Update status that WordPress knows: none, available, or version higher than expected',
      examples: ['available'],
    }),
    version: Type.String({ examples: ['5.3'] }),
    update_version: nullable(Type.String({ description: 'Available version', examples: ['5.4'] })),
  },
  { title: 'SitePlugin' },
)

export function presentPlugin(plugin: ListedPlugin): Type.Static<typeof PluginSchema> {
  const { name, title, description, status, update, version, updateVersion } = plugin
  return { name, title, description, status, update, version, update_version: updateVersion }
}

const Path = Type.String({ minLength: 1, maxLength: 2000, examples: ['akismet'] })
const listOf = <Item extends Type.TSchema>(item: Item) => Type.Array(item, { minItems: 1, maxItems: MOST_PLUGINS })

/** Body of requests that name only plugins. */
export const PluginPaths = Type.Object(
  {
    plugins: listOf(
      Type.Object({ path: Path }, { title: 'PluginPath', description: '`path` is the slug of the plugin' }),
    ),
  },
  { title: 'PluginPaths' },
)

/** Body of requests that also name releases. */
export const PluginReleases = Type.Object(
  {
    plugins: listOf(
      Type.Object(
        {
          path: Path,
          version: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 100,
              description: 'Default: the latest version',
              examples: ['5.3'],
            }),
          ),
        },
        { title: 'PluginRelease' },
      ),
    ),
  },
  { title: 'PluginReleases' },
)

const Text = Type.String()

/** Input of an operation on plugins. */
export const PluginsOrder = Type.Object({
  siteId: Type.Integer(),
  plugins: Type.Array(
    Type.Object({
      path: Text,
      /** As requested, or null for the latest. */
      version: nullable(Text),
      /** Where to fetch what will be installed, with its release if known. */
      package: nullable(Type.Object({ url: Text, version: nullable(Text) })),
    }),
  ),
})
export type PluginsOrder = Type.Static<typeof PluginsOrder>
export type OrderedPlugin = PluginsOrder['plugins'][number]

/** Returns whether a path has the form of slugs and plugin folders. */
export const isSlug = (path: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(path)

/** Finds the installed plugin that a path names: by its folder, by its file without `.php`, or by the file's name. */
export const meantBy = (plugins: readonly ListedPlugin[], path: string): ListedPlugin | undefined =>
  plugins.find(({ status, name, file }) => isChangeable(status) && (name === path || file === path))

const SHOP = 'woocommerce'
/** Returns whether a plugin is the one that makes a site a shop, by slug or by file. */
export const isShop = (path: string): boolean => path === SHOP || path.startsWith(`${SHOP}/`)
export const isActiveShop = ({ file, status }: ListedPlugin): boolean => isShop(file) && status.startsWith('active')

/** Returns whether a plugin can be switched, unlike must-use plugins and drop-ins. */
export const isChangeable = (status: ListedPlugin['status']): boolean => status !== 'must-use' && status !== 'dropin'

/** Lists names for users. */
export const pluginNames = (plugins: readonly { readonly path: string }[]): string =>
  plugins.map(({ path }) => path.slice(0, 200)).join(', ')
