export const performanceTexts = {
  title: 'Performance',
  none: 'No report yet. Order one: a browser opens the front page as on a desktop and as on a phone, which takes a minute or two.',
  order: 'Make a report',
  made: (time: string) => `Made ${time}`,
  by: (version: string) => `Lighthouse ${version}`,
  devices: { desktop_report: 'Desktop', mobile_report: 'Phone' },
  picture: (device: string) => `The front page as the browser showed it: ${device}`,
  unknown: 'unknown',
  head: ['Measured', 'Value', 'Score'],
  scores: {
    performance: 'Performance',
    accessibility: 'Accessibility',
    best_practices: 'Best practices',
    seo: 'Search engines',
  },
}
