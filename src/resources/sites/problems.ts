import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  name_taken: {
    status: 400,
    text: 'name: "{name}" is already taken. Choose another name.',
    remedy: 'Choose another name. You can check names with `POST /v1/sites/validate`.',
  },
  name_reserved: {
    status: 400,
    text: 'name: "{name}" is reserved. Choose another name.',
    remedy: 'Choose another name.',
  },
  site_limit_reached: {
    status: 400,
    text: 'The plan {plan} allows {limit} {kind} sites, and the account has reached this limit. Delete a site, or attach an add-on.',
    remedy: 'Delete a site, attach a site add-on, or have the operator change the plan (`stead account set-plan`).',
  },
  plan_lacks_multisite: {
    status: 400,
    text: 'multisite_support: the plan {plan} does not include multisite support.',
    remedy: 'Omit `multisite_support`, or change the plan.',
  },
  clone_elsewhere: {
    status: 400,
    text: 'datacenter_code: no host in {code} can run the clone. Choose one of these codes: {codes}.',
    remedy: 'Omit `datacenter_code`, or use one of these codes.',
  },
  site_being_cloned: {
    status: 400,
    text: 'Operation {operation} is cloning this site. Wait until the operation ends, or cancel it.',
    remedy: '`GET /v1/operations/{id}` shows the operation, and `POST /v1/operations/{id}/cancel` cancels it.',
  },
  runtime_not_there: {
    status: 400,
    text: 'runtime: the host of the site does not have the {runtime} runtime for PHP {version}. Choose another PHP version.',
    remedy:
      'Choose a `php_version` that the host has, or ask the operator to install the missing one. `/readyz` lists what each host runs.',
  },
  php_version_not_there: {
    status: 400,
    text: 'php_version: PHP {version} does not run {how} on the host of the site. Choose another version.',
    remedy:
      'Choose another version, or move the site to a runtime that has this version with `PUT /v1/sites/{id}/runtime`.',
  },
  no_host: {
    status: 503,
    text: 'No host in {datacenter} is ready for a new site. Try again in a minute.',
    remedy: 'Wait, or choose another datacenter. Operators: `/readyz` shows the hosts.',
  },
  domains_left: {
    status: 400,
    text: 'A staging site cannot have domains, and this site has {count}. Remove all of its DNS records first.',
    remedy: 'Remove the domains and DNS records of the site, then convert it again.',
  },
  site_not_disabled: {
    status: 400,
    text: 'Only disabled sites can be enabled, and this site is {state}.',
    remedy: 'You need not do anything: the site is not disabled.',
  },
  site_not_live: {
    status: 400,
    text: 'This operation requires a live site, and this site is {state}.',
    remedy: 'Wait until `state` is `live`. While it is `deploying`, `GET /v1/operations?site_id=…` shows the progress.',
  },
  site_unavailable: {
    status: 503,
    text: 'The site does not answer right now: {reason}. Try again in a minute.',
    remedy:
      'See the operation in `Operation-Id` for details. To wait for it again, repeat the request with the same `Idempotency-Key`. To start another operation, use a new key.',
  },
  site_cannot: {
    status: 409,
    text: 'The site cannot do this in its current state: {reason}.',
    remedy:
      'Waiting does not help. Correct what the error names, then repeat the request with a new `Idempotency-Key`. See the operation in `Operation-Id` for details.',
  },
})
