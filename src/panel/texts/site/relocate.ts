import { hostTexts } from '../hosts.ts'

export const relocateTexts = {
  menu: 'Move to another host',
  title: (site: string) => `Move ${site} to another host`,
  hosts: 'Hosts',
  none: 'No other host can take this site.',
  current: 'Current host',
  states: hostTexts.states,
  room: hostTexts.room,
  php: (versions: readonly string[]) => (versions.length > 0 ? `PHP ${versions.join(', ')}` : 'No suitable PHP'),
  notice: 'What visitors notice',
  copied: 'The site stays open while Stead copies most of it.',
  closed: 'Then it is unavailable for a short time. Pages in the edge cache still open.',
  ended: 'SFTP and SSH sessions end.',
  safe: 'If anything fails, the site stays on its current host.',
  move: 'Move site',
  moving: (host: string) => `Move to ${host}`,
}
