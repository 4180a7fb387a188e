import type { Config } from '../../config.ts'

export type PanelSettings = Pick<Config, 'panelUrl' | 'apiListen'>

/**
 * Returns the address of the control panel. The request's `Host` is not used, because an attacker could then choose
 * where a link with a secret leads.
 */
export const panelAddress = ({ panelUrl, apiListen: { host, port } }: PanelSettings): string =>
  panelUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
