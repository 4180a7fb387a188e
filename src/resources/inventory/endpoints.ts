import { listInstalledPlugins } from './list-installed-plugins.ts'
import { listInstalledThemes } from './list-installed-themes.ts'
import { listSitesWithPlugin } from './list-sites-with-plugin.ts'
import { listSitesWithTheme } from './list-sites-with-theme.ts'

/** In the order of the API description. */
export const endpoints = [listInstalledPlugins, listSitesWithPlugin, listInstalledThemes, listSitesWithTheme]
