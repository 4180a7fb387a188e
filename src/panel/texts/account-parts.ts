export const accountPartsTexts = {
  parts: 'Account',
  names: {
    you: 'Profile and security',
    plan: 'Plan and defaults',
    collaborators: 'People',
    alerts: 'Alert settings',
    webhooks: 'Webhooks',
    'mu-plugins': 'Must-use plugins',
  },
  none: 'Page not found.',
}
