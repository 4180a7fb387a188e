import type { Config } from '../../config.ts'
import { createPluginDirectory, type PluginDirectory } from '../../hosting/plugin-directory/plugin-directory.ts'

/** The plugin directory of WordPress, or what the settings put in its place. */
export const openPluginDirectory = ({ wordpressApi, allowPrivateFetch }: Config): PluginDirectory =>
  createPluginDirectory({ base: wordpressApi, allowPrivate: allowPrivateFetch })
