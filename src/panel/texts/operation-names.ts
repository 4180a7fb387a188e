/** What operations do and did, by their type. */
const titles: Readonly<Record<string, readonly [doing: string, done: string]>> = {
  'site.provision': ['Create site', 'Site created'],
  'site.clone': ['Clone site', 'Site cloned'],
  'site.configure': ['Change site settings', 'Site settings changed'],
  'site.remove': ['Delete site', 'Site deleted'],
  'site.purge': ['Erase deleted site', 'Deleted site erased'],
  'site.reset_admin_password': ['Reset admin password', 'Admin password reset'],
  'site.switch_safe_mode': ['Change safe mode', 'Safe mode changed'],
  'site.move': ['Move site to another runtime', 'Site moved to another runtime'],
  'site.flush_object_cache': ['Flush object cache', 'Object cache flushed'],
  'site.maintenance': ['Change maintenance mode', 'Maintenance mode changed'],
  'site.restore': ['Restore backup', 'Backup restored'],
  'site.preview_restore': ['Preview restore', 'Restore previewed'],
  'site.sync': ['Sync sites', 'Sites synced'],
  'site.import': ['Import site', 'Site imported'],
  'site.bring_back': ['Recover site', 'Site recovered'],
  'site.update_cms_version': ['Update WordPress', 'WordPress updated'],
  'site.update_cms_version_by_schedule': ['Update WordPress automatically', 'WordPress updated automatically'],
  'site.make_performance_report': ['Create performance report', 'Performance report created'],
  'mu_plugin.install': ['Install must-use plugin', 'Must-use plugin installed'],
  'mu_plugin.update': ['Update must-use plugin', 'Must-use plugin updated'],
  'mu_plugin.remove': ['Remove must-use plugin', 'Must-use plugin removed'],
  'mu_plugin.bring': ['Copy must-use plugin to sites', 'Must-use plugin copied to sites'],
  'mu_plugin.bring_to_site': ['Copy must-use plugins to site', 'Must-use plugins copied to site'],
  'backup.take': ['Back up site', 'Site backed up'],
  'backup.take_scheduled': ['Back up site automatically', 'Site backed up automatically'],
  'backup.measure': ['Measure backup', 'Backup measured'],
  'backup.delete': ['Delete backup', 'Backup deleted'],
  'backup.expire': ['Delete expired backups', 'Expired backups deleted'],
  'backup.prove': ['Test backup', 'Backup tested'],
  'backups.forget_site': ['Delete backups of a deleted site', 'Backups of a deleted site deleted'],
  'import.inspect': ['Inspect import', 'Import inspected'],
  'import.remove': ['Delete import', 'Import deleted'],
  'collaborator.sync_wp_user': ['Update WordPress user', 'WordPress user updated'],
  'collaborator.reset_password': ['Reset WordPress password', 'WordPress password reset'],
  'collaborator.batch_create': ['Add people to sites', 'People added to sites'],
  'collaborator.batch_destroy': ['Remove people from sites', 'People removed from sites'],
  'plugin.list': ['Read plugins', 'Plugins read'],
  'plugin.install': ['Install plugins', 'Plugins installed'],
  'plugin.update': ['Update plugins', 'Plugins updated'],
  'plugin.activate': ['Activate plugins', 'Plugins activated'],
  'plugin.deactivate': ['Deactivate plugins', 'Plugins deactivated'],
  'plugin.delete': ['Delete plugins', 'Plugins deleted'],
  'sftp.disconnect': ['End SFTP connections', 'SFTP connections ended'],
  'extension_license.write': ['Write extension license', 'Extension license written'],
  'statistics.measure_site': ['Measure disk use', 'Disk use measured'],
  'password.mail_link': ['Send password link', 'Password link sent'],
  'mail.send': ['Send email', 'Email sent'],
  'domain.check': ['Check domain', 'Domain checked'],
  'certificate.order': ['Get certificate', 'Certificate issued'],
  'account.remove': ['Remove account', 'Account removed'],
  'dnssec.look': ['Check DNSSEC', 'DNSSEC checked'],
}

/** Types that people see, with their names in a filter. */
export const operationTypes: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(titles)
    .map(([type, [doing]]) => [type, doing] as const)
    .sort(([, one], [, other]) => one.localeCompare(other)),
)

/** Turns a name of the API into words, for what is newer than the panel. */
const wordsOf = (name: string): string => {
  const words = name.replace(/[._]/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function operationTitle({ type, state }: { readonly type: string; readonly state: string }): string {
  const [doing, done] = titles[type] ?? [wordsOf(type), wordsOf(type)]
  return state === 'succeeded' ? done : doing
}

const steps: Readonly<Record<string, string>> = {
  absent: 'Checking sites',
  answer: 'Checking the homepage',
  address: 'Setting the address',
  blogs: 'Updating sites of the network',
  bring: 'Copying files',
  check: 'Checking what is needed',
  claim: 'Reserving the order',
  close: 'Closing the site',
  compare: 'Comparing with the old site',
  complete: 'Completing the backup',
  config: 'Writing the configuration',
  connections: 'Ending connections',
  constants: 'Writing the configuration',
  content: 'Copying content',
  copy_files: 'Copying files',
  core: 'Fetching WordPress',
  database: 'Copying the database',
  deliver: 'Sending',
  desktop: 'Measuring as a desktop',
  done: 'Finishing',
  due: 'Checking what is due',
  fetch: 'Fetching files',
  fetch_again: 'Fetching files',
  files: 'Copying files',
  files_again: 'Copying files changed meanwhile',
  fit: 'Adapting addresses',
  flush: 'Flushing the cache',
  forget: 'Cleaning up',
  gone: 'Updating the list',
  home: 'Preparing the site directory',
  issue: 'Requesting the certificate',
  keep_database: 'Keeping the old database',
  keep_files: 'Keeping the old files',
  list: 'Reading the list',
  live: 'Opening the site',
  look: 'Checking the site',
  made_files: 'Writing files',
  mail: 'Sending email',
  measure: 'Measuring the size',
  mobile: 'Measuring as a phone',
  network: 'Updating the network of sites',
  open: 'Opening the site',
  option: 'Writing the license',
  order: 'Ordering the certificate',
  page: 'Showing the maintenance page',
  password: 'Setting the password',
  php: 'Restarting PHP',
  plan: 'Planning the import',
  plugins: 'Changing plugins',
  process: 'Starting PHP',
  prove: 'Proving control of the domain',
  purge: 'Purging the cache',
  ready: 'Checking the plan',
  record: 'Recording the change',
  records: 'Deleting records',
  remove: 'Deleting files',
  report: 'Comparing with the backup',
  settle: 'Cleaning up',
  shop: 'Setting up the shop, if there is one',
  sites: 'Changing sites',
  stop: 'Stopping PHP',
  store: 'Saving the report',
  sweep: 'Freeing storage',
  switch: 'Switching over',
  tables: 'Restoring tables',
  take: 'Copying data',
  tidy: 'Cleaning up',
  trash: 'Moving files to the trash',
  unpack: 'Unpacking the archive',
  upgrade: 'Upgrading the database',
  user: 'Updating the WordPress user',
  wanted: 'Checking for a release',
}

export const stepTitle = (name: string): string => steps[name] ?? wordsOf(name)

/** The text of the running step, or undefined if none runs. */
export const currentStep = (of: readonly { readonly name: string; readonly state: string }[]): string | undefined => {
  const running = of.find(({ state }) => state === 'running')
  return running && stepTitle(running.name)
}
