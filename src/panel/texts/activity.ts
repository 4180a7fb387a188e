export const activityTexts = {
  title: 'Activity',
  head: ['When', 'What', 'Who'],
  empty: 'Nothing has happened yet.',
  byStead: 'Stead',
}
