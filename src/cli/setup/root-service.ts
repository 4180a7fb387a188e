import { execFile } from 'node:child_process'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/** A drop-in of systemd (systemd.unit(5)). The Debian package removes it when it is purged. */
const DROP_IN = '/etc/systemd/system/stead.service.d/native.conf'
/** Compiled code, which the service writes. */
const CACHE = '/var/cache/stead'

const content = `# Written by stead setup. Native PHP needs root, to run each site as a user of its own.
[Service]
User=root
Group=root
AmbientCapabilities=
CapabilityBoundingSet=~
`

/**
 * Lets the service of the Debian package run as root. The folders come last, because their owner tells whether the service
 * already does.
 * @param folders of Stead, which become root's without their content
 */
export async function runServiceAsRoot(folders: readonly string[]): Promise<void> {
  await mkdir(dirname(DROP_IN), { recursive: true })
  await writeFile(DROP_IN, content)
  await promisify(execFile)('systemctl', ['daemon-reload'])
  for (const folder of [...folders, CACHE]) await chown(folder, 0, 0)
}
