import { hostTexts } from './hosts.ts'

export const platformTexts = {
  title: 'Platform',
  notYours: 'Only the operator of this installation sees its state. The operator is the first account.',
  version: (version: string) => `Stead ${version} · updates every 10 seconds`,
  tabs: { overview: 'Overview', accounts: 'Accounts', hosts: 'Hosts and queues', processes: 'Processes and limits' },
  checks: 'Checks',
  noneWrong: 'Nothing is wrong.',
  otherChecks: (count: number) => `Other checks: ${count}`,
  checkAgain: 'Check again',
  checkedAt: (time: string) => `Checked ${time}`,
  checkStates: { ok: 'OK', warning: 'Warning', problem: 'Problem', skipped: 'Skipped' },
  areas: {
    settings: 'Settings',
    disk: 'Disk',
    databases: 'Databases',
    clock: 'Clock',
    ports: 'Ports',
    names: 'Names',
    dns: 'DNS',
    certificates: 'Certificates',
    storage: 'Storage',
    mail: 'Mail',
    php: 'PHP',
    limits: 'Limits',
  },
  accountsHead: ['Account', 'Plan', 'Sites', 'Actions'],
  operator: 'Operator',
  created: (name: string, time: string) => `${name} · created ${time}`,
  suspended: 'Suspended',
  suspend: 'Suspend account',
  suspendQuestion: (email: string) => `Suspend ${email}?`,
  suspendEffect: (sites: number) =>
    `Nobody can sign in to this account, and its API credentials are refused. ${
      sites === 0
        ? 'It has no sites.'
        : sites === 1
          ? 'Visitors of its site see that it is temporarily unavailable.'
          : `Visitors of its ${sites.toLocaleString()} sites see that they are temporarily unavailable.`
    } Nothing is deleted. You can resume the account at any time.`,
  didSuspend: (email: string) => `Account ${email} suspended`,
  resume: 'Resume account',
  didResume: (email: string) => `Account ${email} resumed`,
  sitesOf: hostTexts.room,
  accountCommands: 'To create an account or change a plan, use the command line on the server:',
  accountCommand: 'stead help account',
  hosts: 'Hosts',
  hostsHead: ['Host', 'Sites', 'Last report', 'Status', 'Actions'],
  noHosts: 'No hosts. You cannot create sites until one has started.',
  hostStates: hostTexts.states,
  cordon: 'Cordon host',
  cordonQuestion: (name: string) => `Cordon ${name}?`,
  cordonEffect: (sites: number, others: number) =>
    `${
      others === 0
        ? 'No other host takes new sites, so nobody can create a site until you uncordon this host.'
        : 'New sites go to other hosts.'
    } ${sites === 1 ? 'The site on this host stays and runs.' : `The ${sites.toLocaleString()} sites on this host stay and run.`}`,
  didCordon: (name: string) => `Host ${name} gets no new sites`,
  uncordon: 'Uncordon host',
  didUncordon: (name: string) => `Host ${name} gets new sites again`,
  drain: 'Drain host',
  drainOf: (name: string) => `Drain ${name}`,
  drainQuestion: (name: string) => `Drain ${name}?`,
  drainEffect: (sites: number) => {
    if (sites === 0) return 'This host gets no new sites.'
    const moves =
      sites === 1
        ? 'The site on this host moves to another host.'
        : `The ${sites.toLocaleString()} sites on this host move to other hosts, two at a time, the least visited first.`
    return `${moves} Each site is unavailable for a short time while it moves. This host gets no new sites.`
  },
  paused: 'Paused',
  pause: 'Pause moves',
  didPause: (name: string) => `No more sites of ${name} move until you continue`,
  goOn: 'Continue moves',
  didGoOn: (name: string) => `Sites of ${name} move again`,
  inTrash: (count: number, until: string | undefined) =>
    `${count === 1 ? '1 deleted site' : `${count.toLocaleString()} deleted sites`}${until ? ` until ${until}` : ''}`,
  trashMoves: (count: number, until: string | undefined) =>
    `${
      count === 1 ? 'One deleted site' : `${count.toLocaleString()} deleted sites`
    } in the trash ${count === 1 ? 'moves' : 'move'}, too${until ? `, and ${count === 1 ? 'stays' : 'stay'} there until ${until}` : ''}.`,
  moreOfHost: (name: string) => `More actions: ${name}`,
  lose: 'Declare lost',
  loseQuestion: (name: string) => `Declare ${name} lost?`,
  loseEffect: (sites: number) =>
    sites === 0
      ? 'It has no sites. It cannot run again until you return it.'
      : `${
          sites === 1 ? 'Its site is recovered' : `Its ${sites.toLocaleString()} sites are recovered`
        } on other hosts from the newest backups. Changes since then are lost. If the machine is only cut off, connect it again instead.`,
  didLose: (name: string) => `Recovering the sites of ${name}`,
  returnHost: 'Return host',
  didReturn: (name: string) => `Host ${name} may run again. Start it on its machine.`,
  removeHost: 'Remove host',
  removeQuestion: (name: string) => `Remove ${name}?`,
  removeEffect: 'It disappears from all lists. Nothing on its disk is deleted.',
  didRemoveHost: (name: string) => `Host ${name} removed`,
  of: (count: number, most: number) => `${count.toLocaleString()} of ${most.toLocaleString()}`,
  answering: 'online',
  answers: { true: 'Online', false: 'Silent' },
  queues: 'Queues',
  queuesHead: ['Queue', 'Waiting', 'Longest wait'],
  noQueues: 'Nothing has been reported yet.',
  runners: { control: 'Control', host: 'Hosts', webhooks: 'Webhooks' } as Readonly<Record<string, string>>,
  seconds: (count: number) => `${count.toLocaleString()} s`,
  work: 'Running or queued operations',
  failed: (count: number) => `${count.toLocaleString()} failed in the last hour`,
  sites: 'Sites',
  live: (count: number) => `${count.toLocaleString()} live`,
  none: 'None',
  names: 'Names to change',
  shared: (domain: string) =>
    `The panel and the sites of customers share the domain ${domain}, so pages of a site can set cookies for the panel. Use a separate domain for the panel, or add the domain of sites to the public suffix list.`,
  takenHead: ['Name', 'Kind', 'Site', 'Account'],
  takenKinds: { site: 'First address', domain: 'Domain', zone: 'DNS zone' } as Readonly<Record<string, string>>,
  taken: 'These names belong to this installation. Accounts got them before a setting reserved them.',
  care: 'Certificates and webhooks',
  failing: 'Certificates not renewed',
  ended: 'Certificates expired',
  firstEnd: 'Next expiry',
  hooks: 'Webhooks failing',
  hooksOff: 'Webhooks disabled',
  backedUp: 'Last backup of Stead',
  never: 'Never',
  processes: 'Processes',
  processesHead: ['Process', 'Memory', 'Disk', 'Fullest limit', 'Refused'],
  free: (size: string) => `${size} free`,
  refused: (count: number) => `${count.toLocaleString()} refused`,
  budgetsOf: (process: string) => `Limits of ${process}`,
  budgetsHead: ['Limit', 'Used', 'Maximum', 'Refused'],
  noProcesses: 'No process has reported yet.',
  fullest: (name: string, percent: number) => `${name}: ${percent} %`,
}
