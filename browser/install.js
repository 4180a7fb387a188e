// Installs the packages that open pages in a browser: Lighthouse, its driver, and what compares pictures.
//
//   node browser/install.js
//
// They have a folder of their own, because they are 90 MB, and only performance reports and comparisons of pages use
// them. Runs on Node 20.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Installs the packages of a folder, unless they are there in the versions of its lock file.
 * @param {string} folder
 * @param {string} why printed before it begins
 * @throws Error if npm fails
 */
export function installPackages(folder, why) {
  const wanted = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  /** A copy of the lock file from which the folder was installed. */
  const installedFrom = join(folder, 'node_modules/.installed-from')
  if (existsSync(installedFrom) && readFileSync(installedFrom, 'utf8') === wanted) return
  console.error(why)
  // Standard output belongs to the caller. Settings of an npm above this process are for another folder.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_config_(omit|prefix|local_prefix|only|include|dry_run|workspace)/i.test(name),
    ),
  )
  execFileSync('npm', ['ci', '--no-progress', '--loglevel=error'], { cwd: folder, env, stdio: ['ignore', 2, 2] })
  writeFileSync(installedFrom, wanted)
}

if (process.argv[1] === import.meta.filename)
  installPackages(import.meta.dirname, 'Installing Lighthouse and its browser driver (90 MB)')
