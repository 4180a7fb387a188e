export const domainsTexts = {
  title: 'Domains',
  add: 'Add a domain',
  head: ['Name', 'Leads here', 'Answers', 'Certificate or plain', 'Actions'],
  empty: 'No domain leads here yet.',
  pointHere: 'not yet: point its A records here',
  primary: 'primary',
  makePrimary: 'Make primary',
  primaryDomain: 'Primary domain',
  name: 'Domain, such as example.com',
  addIt: 'Add it',
  yes: 'yes',
  notYet: 'not yet',
}
