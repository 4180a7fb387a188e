/** What the frame says, and what several pages say. Each page has its own file beside this one; no other file of the panel has words in it. */
export const commonTexts = {
  title: 'Stead',
  opening: 'Opening …',
  reading: 'Reading …',
  toContent: 'To the content',
  pagesOfPanel: 'Pages of the panel',
  pages: { sites: 'Sites', zones: 'Zones', operations: 'Operations', activity: 'Activity', account: 'Account' },
  signOut: 'Sign out',
  notConnected: 'Not connected: what others change is shown once the connection is back.',
  noSuchPage: 'There is no such page.',
  unreachable: 'Stead cannot be reached. Is it running, and are you online?',
  answered: (status: number) => `The API answered ${status}.`,
  unknown: '–',
  close: 'Close',
  closeMessage: 'Close this message',
  cross: '×',
  turning: 'Pages',
  back: 'Back',
  next: 'Next',
  pageOf: (page: number, last: number) => `${page} of ${last}`,
  yes: 'yes',
  notYet: 'not yet',
  done: (about: string) => `${about}: done.`,
  actions: 'Actions',
}

export const proofTexts = {
  title: 'Show that it is you',
  why: 'Nothing asks again for 15 minutes.',
  password: 'Password',
  goOn: 'Go on',
}
