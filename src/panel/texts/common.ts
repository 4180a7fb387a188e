/**
 * Texts of the frame, and texts that several pages share. Each page has its own file beside this one. Other files of
 * the panel have no texts.
 */
export const commonTexts = {
  title: 'Stead',
  opening: 'Loading…',
  reading: 'Loading…',
  toContent: 'Skip to content',
  pages: {
    sites: 'Sites',
    zones: 'Domains and DNS',
    monitoring: 'Monitoring',
    alerts: 'Alerts',
    plugins: 'Plugins and themes',
    operations: 'Operations',
    activity: 'Activity',
    account: 'Account',
    platform: 'Platform',
  },
  noSuchPage: 'Page not found.',
  unreachable: 'Stead does not answer. Check that it is running and that you are online.',
  sessionEnded: 'Your session has ended. Sign in again.',
  answered: (status: number) => `The request failed with status ${status}.`,
  justNow: 'just now',
  unknown: '–',
  close: 'Close',
  cancel: 'Cancel',
  closeMessage: 'Close message',
  cross: '×',
  turning: 'Pages',
  undo: 'Undo',
  back: 'Back',
  next: 'Next',
  pageOf: (page: number, last: number) => `${page} of ${last}`,
  done: (about: string) => `${about}: done.`,
  actions: 'Actions',
}

export const proofTexts = {
  title: "Confirm it's you",
  why: 'You are not asked again for 15 minutes.',
  password: 'Password',
  goOn: 'Continue',
}
