"""Addresses of users, of signing in and out, and of the audit log."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from nasadvisor.console.accounts import audit, own_account, sessions, sign_in, users
from nasadvisor.console.accounts.second_factor import second_step

urlpatterns = [
    path("settings/users/", users.users, name="users"),
    path("settings/users/add/", users.add, name="user-add"),
    path("settings/users/<int:user_id>/role/", users.change_role, name="user-role"),
    path("settings/users/<int:user_id>/active/", users.toggle_active, name="user-active"),
    path("settings/users/<int:user_id>/password/", users.reset_password, name="user-password"),
    path("settings/audit/", audit.audit_page, name="audit"),
    path("settings/audit.csv", audit.audit_csv, name="audit-csv"),
    path("settings/account/", own_account.account, name="account"),
    path("settings/account/authenticator/", own_account.authenticator, name="authenticator"),
    path("settings/account/factor/remove/", own_account.remove_authenticator, name="factor-remove"),
    path("settings/account/passkeys/add/", own_account.add_passkey, name="passkey-add"),
    path("settings/account/passkeys/make/", own_account.make_passkey, name="passkey-make"),
    path("settings/account/passkeys/challenge/", own_account.passkey_challenge, name="passkey-challenge"),
    path("settings/account/passkeys/<int:pk>/remove/", own_account.remove_passkey, name="passkey-remove"),
    path("settings/account/address/", own_account.address, name="account-address"),
    path("settings/account/recovery-codes/", own_account.recovery_codes, name="recovery-codes"),
    path("settings/sessions/", sessions.sessions, name="sessions"),
    path("settings/sessions/end/", sessions.end_all_sessions, name="sessions-end"),
    path("settings/sessions/<str:session_id>/end/", sessions.end_session, name="session-end"),
    path("login/", sign_in.SignIn.as_view(), name="login"),
    path("login/code/", second_step.second_step, name="login-code"),
    path("login/passkey/", own_account.login_challenge, name="login-passkey"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", sign_in.ChangePassword.as_view(), name="password_change"),
    path("setup/<str:token>/", sign_in.setup, name="setup"),
]
