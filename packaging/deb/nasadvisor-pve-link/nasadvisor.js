// One entry in Proxmox VE's list of a node: it opens NAS Advisor in a new tab. Nothing of Proxmox VE is overridden: the
// function that draws the list is called first and whatever happens here afterwards cannot keep it from being shown.
(function () {
    "use strict";
    if (typeof PVE === "undefined" || !PVE.panel || !PVE.panel.Config) {
        return;
    }
    var original = PVE.panel.Config.prototype.initComponent;
    PVE.panel.Config.prototype.initComponent = function () {
        var result = original.apply(this, arguments);
        try {
            if (this.$className === "PVE.node.Config" && !this.down("#nasadvisor-link")) {
                var bar = this.down("toolbar[dock=top]") || this.getDockedItems("toolbar")[0];
                if (bar) {
                    bar.add({
                        xtype: "button",
                        itemId: "nasadvisor-link",
                        text: "NAS Advisor",
                        iconCls: "fa fa-hdd-o",
                        handler: function () {
                            window.open("https://" + window.location.hostname + ":8843/", "_blank", "noopener");
                        },
                    });
                }
            }
        } catch (error) {
            if (window.console) {
                window.console.warn("NAS Advisor's link: " + error);
            }
        }
        return result;
    };
})();
