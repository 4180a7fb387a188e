import type { Config } from '../../config.ts'
import { createPluginDirectory, type PluginDirectory } from '../../hosting/plugin-directory/plugin-directory.ts'

/** Opens the plugin directory of WordPress, or its replacement from the settings. */
export const openPluginDirectory = ({ wordpressApi, allowPrivateFetch }: Config): PluginDirectory =>
  createPluginDirectory({ base: wordpressApi, allowPrivate: allowPrivateFetch })
