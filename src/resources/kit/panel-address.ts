import type { Config } from '../../config.ts'

export type PanelSettings = Pick<Config, 'panelUrl' | 'apiListen'>

/**
 * Returns where people open the control panel. Not what a request says its host is: a link with a secret would go wherever somebody
 * likes.
 */
export const panelAddress = ({ panelUrl, apiListen: { host, port } }: PanelSettings): string =>
  panelUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
