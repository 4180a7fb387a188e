import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  operator_account: {
    status: 400,
    text: 'The account of the operator cannot be suspended or removed.',
    remedy: 'Choose another account. The operator has the first account of the installation.',
  },
  account_name_differs: {
    status: 400,
    text: 'email: must be the address of the account, {email}.',
    remedy: 'Check that you have chosen the right account, and send its address.',
  },
  account_removal_waits: {
    status: 400,
    text: 'The account is being removed, so it stays suspended.',
    remedy: 'Cancel the removal, which also resumes the account.',
  },
  account_removal_begun: {
    status: 400,
    text: 'The removal of the account has begun, and cannot be changed or canceled.',
    remedy: 'Wait until the account is gone. If the operation fails, retry it.',
  },
  account_zone_shared: {
    status: 400,
    text: 'Sites of other accounts use the domain {zone} of the account.',
    remedy: 'Remove the domain from those sites first.',
  },
  storage_not_shared: {
    status: 400,
    text: 'Hosts move sites through a backup storage that all of them use. Set STEAD_BACKUP_S3_BUCKET or STEAD_BACKUP_DIR on all of them.',
    remedy: 'Set a shared backup storage on all hosts and restart them.',
  },
  host_unknown: {
    status: 400,
    text: 'host: no host is named {host}.',
    remedy: 'Send a name from `GET /v1/installation`, or omit `host`.',
  },
  host_unfit: {
    status: 400,
    text: 'host: {host} cannot take the site. It must be active, report, have room, and have the PHP version, the database and the datacenter of the site.',
    remedy: 'Choose another host, or omit `host`. `/readyz` lists the state of each host and what it runs.',
  },
  site_on_host: {
    status: 400,
    text: 'host: the site is on {host} already.',
    remedy: 'Choose another host.',
  },
  relocation_open: {
    status: 400,
    text: 'The site is being moved to another host (operation {operation}).',
    remedy: 'Wait for that operation, or cancel it.',
  },
  drain_window: {
    status: 400,
    text: 'window: must be two different times of a day in UTC, such as 01:00-05:00.',
    remedy: 'Send two times, or omit `window`.',
  },
  drain_deadline: {
    status: 400,
    text: 'deadline: must be a future time in ISO 8601 and UTC, such as 2100-01-01T05:00:00Z.',
    remedy: 'Send a future time, or omit `deadline`.',
  },
  replacement_unfit: {
    status: 400,
    text: 'to: {host} cannot take the sites. It must be another host that is active and reports.',
    remedy: 'Send the name of another host. `GET /v1/installation` lists them.',
  },
  host_draining: {
    status: 400,
    text: 'The sites of {host} are being moved to other hosts (operation {operation}).',
    remedy: 'Wait for that operation, or cancel it.',
  },
  rebalance_open: {
    status: 400,
    text: 'Hosts are being rebalanced (operation {operation}).',
    remedy: 'Wait for that operation, or cancel it.',
  },
  host_lost: {
    status: 400,
    text: '{host} is marked lost. To use it again, run stead host return --name={host} on the server.',
    remedy: 'Return the host first, with the API or with `stead host return`.',
  },
  host_not_lost: {
    status: 400,
    text: '{host} is not marked lost. It is {state}.',
    remedy: 'Nothing is to be done. Uncordon the host if it should get new sites.',
  },
  host_running: {
    status: 400,
    text: '{host} is running: it reported in the last ten seconds. Stop it first, then try again.',
    remedy: 'Stop the host, or drain it if it should keep running until it is empty. Then try again.',
  },
  host_alone: {
    status: 400,
    text: 'No other host can take its sites. Start another host that is active, then try again.',
    remedy: 'Start another host that is active, then try again.',
  },
  host_has_sites: {
    status: 400,
    text: '{host} still has sites, or deleted sites in the trash. Drain it or mark it lost. Deleted sites of a lost host leave the trash with time.',
    remedy:
      'Drain the host, or mark it lost. Deleted sites that did not move leave the trash after `STEAD_TRASH_DAYS` days.',
  },
  host_name_differs: {
    status: 400,
    text: 'confirm: must be the name of the host, {host}.',
    remedy: 'Check that you have chosen the right host, and send its name.',
  },
})
