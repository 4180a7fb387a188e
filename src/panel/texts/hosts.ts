/** Texts about hosts, of the platform page and of a site's move. */
export const hostTexts = {
  states: { active: 'Active', cordoned: 'Cordoned', draining: 'Draining', drained: 'Drained', lost: 'Lost' },
  room: (count: number, most: number) => `${count.toLocaleString()} of ${most.toLocaleString()} sites`,
}
