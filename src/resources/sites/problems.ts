import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  name_taken: {
    status: 400,
    text: 'name: "{name}" is already taken.',
    remedy: 'Choose another name; `POST /v1/sites/validate` tells before.',
  },
  name_reserved: {
    status: 400,
    text: 'name: "{name}" is reserved; choose another.',
    remedy: 'Choose another name.',
  },
  site_limit_reached: {
    status: 400,
    text: 'The plan {plan} allows {limit} {kind} sites, and the account has as many. Delete one, or attach an add-on.',
    remedy: 'Delete a site, attach a site add-on, or have the operator change the plan (`stead account set-plan`).',
  },
  plan_lacks_multisite: {
    status: 400,
    text: 'multisite_support: the plan {plan} does not include multisite support.',
    remedy: 'Leave `multisite_support` out, or change the plan.',
  },
  clone_elsewhere: {
    status: 400,
    text: 'datacenter_code: a clone is made on the host of its source, which serves {codes}.',
    remedy: 'Leave `datacenter_code` out, or name one of those.',
  },
  site_being_cloned: {
    status: 400,
    text: 'Operation {operation} is cloning this site. Wait until the operation ends, or cancel it.',
    remedy: '`GET /v1/operations/{id}` shows the operation, and `POST /v1/operations/{id}/cancel` cancels it.',
  },
  runtime_not_there: {
    status: 400,
    text: 'runtime: the host of the site has no {runtime} for PHP {version}.',
    remedy:
      'Name a `php_version` that it has, or have the operator install what is missing: `/readyz` tells what each host runs.',
  },
  php_version_not_there: {
    status: 400,
    text: 'php_version: PHP {version} does not run {how} on the host of the site.',
    remedy: 'Choose another version, or move the site to where this one runs: `PUT /v1/sites/{id}/runtime`.',
  },
  no_host: {
    status: 503,
    text: 'No host is ready to take a site in {datacenter}. Try again in a minute.',
    remedy: 'Wait, or choose another datacenter. Operators: `/readyz` shows the hosts.',
  },
  domains_left: {
    status: 400,
    text: 'A staging site has no domains, and this site has {count}. Remove all of its DNS records first.',
    remedy: 'Remove the domains and DNS records of the site, then convert it again.',
  },
  site_not_disabled: {
    status: 400,
    text: 'Only disabled sites can be enabled; this site is {state}.',
    remedy: 'Nothing: the site is not disabled.',
  },
  site_not_live: {
    status: 400,
    text: 'The site must be live for this; it is {state}.',
    remedy: 'Wait until `state` is `live`; while `deploying`, `GET /v1/operations?site_id=…` tells how far it is.',
  },
  site_unavailable: {
    status: 503,
    text: 'The site does not answer right now: {reason}. Try again in a minute.',
    remedy:
      'The operation in `Operation-Id` says more. With the same `Idempotency-Key` you wait for it again; to ask for another one, take a new key.',
  },
  site_cannot: {
    status: 409,
    text: 'The site cannot do this as it stands: {reason}.',
    remedy:
      'Waiting does not help: change what the text names, then ask again with a new `Idempotency-Key`. The operation in `Operation-Id` says more.',
  },
})
