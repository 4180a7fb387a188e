import { printableSettings } from '../config.ts'
import { version } from '../version.ts'

const text = `Stead ${version}: a control plane for WordPress sites

stead serve                          run everything on this machine
stead control | host | edge          run one part (many machines, one PostgreSQL)
stead account create --email=…       make an account (--name, --plan)
stead account list
stead account set-plan --email=… --plan=…
stead application create --account=… --name=… [--owner]
stead application list [--account=…]
stead application revoke --client-id=…
stead site restore --name=…          bring a deleted site back from the trash
stead config                         print the settings in force
stead openapi                        print the OpenAPI document

--json with any of them prints JSON. Every setting is a variable or a flag:
`

export async function run(): Promise<number> {
  console.log(text)
  for (const { name, flag, help, default: usual } of printableSettings())
    console.log(`  ${flag}  (${name}${usual ? `, ${usual}` : ''})\n      ${help}`)
  return 0
}
