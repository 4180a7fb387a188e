/** The checklist of a new account. */
export const firstStepsTexts = {
  title: 'First steps',
  allDone: 'You are all set',
  hide: 'Hide',
  secure: {
    title: 'Secure your account',
    text: 'Add a passkey or an authenticator app, so that a stolen password is not enough.',
    action: 'Set up sign-in',
  },
  site: {
    title: 'Create your first site',
    text: 'Name it, and WordPress is ready in seconds.',
    action: 'New site',
  },
  domain: {
    title: 'Add a domain',
    text: 'The domains page of your site lists the DNS records to copy. The certificate follows.',
    action: 'Add domain',
  },
  backups: {
    title: 'Store backups elsewhere',
    text: 'Backups are in the data folder, and are lost with this machine. Set STEAD_BACKUP_S3_BUCKET, or STEAD_BACKUP_DIR for a folder on another disk, and restart Stead.',
    action: 'Check the platform',
  },
  people: {
    title: 'Invite people',
    text: 'Each person has a sign-in and permissions of their own.',
    action: 'Invite',
  },
}
