#!/usr/bin/perl
# notify.pl SEVERITY SUBJECT TEXT: a message by Proxmox VE's notification system; by mail to root if that refuses.
# Its templates are nasadvisor-subject.txt.hbs and nasadvisor-body.txt.hbs (package nasadvisor-pve-link).
use strict;
use warnings;

my ($severity, $subject, $text) = @ARGV;
die "usage: notify.pl SEVERITY SUBJECT TEXT\n" if !defined($text);
chomp(my $host = `/bin/hostname`);
$subject =~ s/[\r\n]+/ /g;

eval {
    require PVE::Notify;
    PVE::Notify::notify(
        $severity, 'nasadvisor',
        { subject => $subject, text => $text, hostname => $host },
        { type => 'nasadvisor', hostname => $host },
    );
};
exit 0 if !$@;
my $problem = $@;

open(my $mail, '|-', '/usr/sbin/sendmail', '-i', 'root') or die "neither PVE::Notify ($problem) nor sendmail: $!\n";
print $mail "To: root\nSubject: $subject\nContent-Type: text/plain; charset=UTF-8\nAuto-Submitted: auto-generated\n\n$text\n";
close($mail) or die "neither PVE::Notify ($problem) nor sendmail took the message\n";
print "sent by mail to root, since PVE::Notify said: $problem";
