/** An error in terms of SFTP: a kind of failure and a sentence for the client. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly kind: 'missing' | 'denied' | 'failure' | 'unsupported' | 'end'

  constructor(kind: Refused['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

const KINDS: Readonly<Record<string, readonly [Refused['kind'], string]>> = {
  ENOENT: ['missing', 'No such file'],
  ENOTDIR: ['missing', 'No such folder'],
  ESTALE: ['missing', 'No such file'],
  ELOOP: ['denied', 'Links are not followed'],
  EACCES: ['denied', 'Permission denied'],
  EPERM: ['denied', 'Permission denied'],
  EROFS: ['denied', 'Permission denied'],
  EEXIST: ['failure', 'This name is already taken'],
  ENOTEMPTY: ['failure', 'The folder is not empty'],
  EISDIR: ['failure', 'It is a folder'],
  ENAMETOOLONG: ['failure', 'The path is too long'],
  ENOSPC: ['failure', 'The disk of the host is full'],
  EDQUOT: ['failure', 'The disk of the host is full'],
  EFBIG: ['failure', 'The file would be too large'],
  EINVAL: ['failure', 'That cannot be done'],
  EMFILE: ['failure', 'The host has too many files open'],
  EXDEV: ['failure', 'That cannot be moved'],
}

/** Returns what to tell a client about an error, or `undefined` for an unexpected one. */
export function sftpRefusal(error: unknown): Refused | undefined {
  if (error instanceof Refused) return error
  if ((error as Error).name === 'DiskFull') return new Refused('failure', (error as Error).message)
  const known = KINDS[(error as NodeJS.ErrnoException).code ?? '']
  return known && new Refused(...known)
}
