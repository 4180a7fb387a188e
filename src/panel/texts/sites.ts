export const sitesTexts = {
  title: 'Sites',
  newSite: 'New site',
  search: 'Search by name',
  making: (name: string) => `Making ${name}`,
  head: ['Name', 'State', 'Address', 'PHP', 'WordPress'],
  empty: 'No sites yet. Make the first one: it takes a second.',
  noneFound: 'No site has that in its name.',
  name: 'Name: 4 to 63 letters, digits and hyphens',
  php: 'PHP',
  staging: 'A staging site',
  make: 'Make it',
}
