export const copiesTexts = {
  clone: 'Clone',
  cloneIs:
    'A new site with the files, database, PHP version and tags of this one, at an address of its own; without its domains, collaborators, backups and notes. This site serves meanwhile.',
  name: 'Name of the copy: 4 to 63 letters, digits and hyphens',
  kind: 'Kind',
  kinds: { staging: 'a staging site', live: 'a live site' },
  make: 'Make the copy',
  made: 'Clone',

  sync: 'Sync',
  syncIs:
    'Overwrites parts of one site with those of another, such as a live site with its staging site. Both are backed up before. What is overwritten can be taken back for seven days, under Operations.',
  other: 'The other site',
  direction: 'Direction',
  to: (here: string, other: string) => `from ${here} to ${other}`,
  parts: 'What is overwritten',
  database: 'The whole database: posts, users, orders, settings',
  themes: 'Theme files',
  plugins: 'Plugin files',
  uploads: 'Media uploads',
  content: 'What else is in wp-content',
  root: 'The web root without wp-content',
  skip: 'Do not ask for the front page afterwards',
  environment: 'Environment afterwards',
  keeps: 'as it is',
  sure: (target: string) =>
    `${target} is overwritten: what was written there since, in the parts that are chosen, is gone.`,
  go: 'Overwrite it',
  started: (target: string) => `Sync to ${target}`,
}
