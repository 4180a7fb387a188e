/** Texts about hosts, of the platform page and of a site's move. */
export const hostTexts = {
  states: { active: 'Active', cordoned: 'Cordoned', draining: 'Draining', drained: 'Drained', lost: 'Lost' },
  room: (count: number, most: number) => `${count.toLocaleString()} of ${most.toLocaleString()} sites`,
}

/** Texts about the moves from full hosts to emptier ones. */
export const rebalanceTexts = {
  rebalance: 'Rebalance…',
  title: 'Rebalance hosts',
  about:
    'The load of a host is its share of disk use and of the page views of the last week, compared with its places. 100 % is a fair share.',
  loads: 'Load of hosts',
  loadsHead: ['Host', 'Load', 'After the moves'],
  noHosts: 'No host takes sites.',
  percent: (share: number) => `${share.toLocaleString()} %`,
  moves: 'Sites that move',
  movesHead: ['Site', 'Move', 'Last week'],
  way: (from: string, to: string) => `${from} → ${to}`,
  visits: (count: number) => (count === 1 ? '1 page view' : `${count.toLocaleString()} page views`),
  balanced: 'The loads of all hosts are alike, so no site moves.',
  notice: 'What happens to these sites',
  closed: 'Each site is unavailable for a short time while it moves. Two sites move at the same time.',
  safe: 'A site that cannot move stays where it is. You can pause or cancel the operation.',
  move: (count: number) => (count === 1 ? 'Move 1 site' : `Move ${count.toLocaleString()} sites`),
  work: (count: number) =>
    count === 1 ? 'Move 1 site to an emptier host' : `Move ${count.toLocaleString()} sites to emptier hosts`,
}

/** Texts about a host that another one replaces. */
export const replaceTexts = {
  item: 'Replace host…',
  title: (name: string) => `Replace ${name}`,
  replace: 'Replace host',
  to: 'Host that gets all sites',
  room: hostTexts.room,
  notice: 'What happens to this host',
  moved: 'Its sites move, two at a time. Each site is unavailable for a short time while it moves.',
  removed: 'Then the host is removed, and cannot run again. Nothing else on its disk is deleted.',
  safe: 'If a site cannot move, the host stays, and the operation says why.',
  work: (name: string, to: string) => `Replace ${name} with ${to}`,
}
