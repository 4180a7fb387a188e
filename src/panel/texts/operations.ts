export const operationsTexts = {
  title: 'Operations',
  head: ['What', 'State', 'Ordered', 'Done', 'Actions'],
  empty: 'Nothing has been done in the background yet.',
  percent: (done: number) => `${done} %`,
  actions: { cancel: 'Cancel', retry: 'Try again', undo: 'Take it back' },
  actionOf: (action: string, type: string) => `${action}: ${type}`,
  said: { cancel: 'It is being canceled.', retry: 'It is tried again.', undo: 'It is being taken back.' },
}
