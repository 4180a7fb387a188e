const sites = (count: number): string => (count === 1 ? '1 site' : `${count.toLocaleString()} sites`)

/** Safe updates of many sites. */
export const manyUpdatesTexts = {
  update: 'Update safely',
  everything: 'all plugins and themes',
  question: (what: string, count: number) => `Update ${what} safely on ${sites(count)}?`,
  effect:
    'Stead updates one site on each host at a time. It compares the pages of each site before and after, and restores the earlier versions if a page is worse. You can pause and cancel.',
  core: 'Update WordPress, too',
  coreIs:
    'Each site closes for a moment. If an undo also has to restore the database, orders, comments and entries from after the update are lost. Stead skips sites where you may not update WordPress.',
  updateDue: (count: number) => `Update safely on ${sites(count)}`,
  title: 'Safe updates of all sites',
  state: 'Result',
  head: ['Site', 'Result', 'Updated', 'Started', 'Actions'],
  hiddenHeads: ['Actions'],
  partOf: 'With other sites',
  partOfBatch: (site: string) => `With other sites: ${site}`,
  reportOf: (site: string, time?: string) => `Show report of ${site}${time === undefined ? '' : `, ${time}`}`,
  noneTitle: 'No matches',
  none: 'Change or clear the filters.',
  emptyTitle: 'No safe updates yet',
  empty: 'Open a plugin or theme that has an update, and select sites.',

  batchTitle: (count: number) => `Safe update of ${sites(count)}`,
  all: 'All safe updates',
  states: {
    waiting: 'Waiting',
    in_progress: 'In progress',
    kept: 'Kept',
    undone: 'Undone',
    failed: 'Failed',
    canceled: 'Canceled',
    skipped: 'Skipped',
  },
  progress: 'Progress',
  sitesOf: 'Its sites',
  counted: (count: number, state: string) => `${count.toLocaleString()} ${state.toLowerCase()}`,
  batchHead: ['Site', 'Result', 'Reason', 'Actions'],
  hiddenSite: 'A site that you cannot see',
}
